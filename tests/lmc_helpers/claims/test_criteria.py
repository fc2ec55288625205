"""The grammar of the ledger: what cannot fail, says too little, or says what only a paper may, is refused."""

import math

import pytest
from oracles.ledger import BASE, CORRECTED, SAMPLED, SHARPER, claim, parse_part, step

from lmc_helpers.claims.criteria import Claim, ClaimEntry
from lmc_helpers.claims.intervals import LedgerError

OURS = {"whose": "ours"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rival": {"value": 2.1, "says": "x"}}, r"criterion \(= 2 ± 0.1\) also accepts its rival \(2.1\)"),
        ({"rival": {"value": 3, "says": "x"}, "corrected": CORRECTED["corrected"]}, r"corrected \(in .* also accepts"),
        ({"rival": None}, "rival: None is not allowed here; allowed: a mapping with says, value"),
        ({"rival": {"value": 3}}, "rival.says: the field is missing"),
        ({"corrected": {"between": [2.05, 3]}}, "no measurement tells them apart"),
        ({"criterion": {"at_most": math.inf}}, "criterion.at_most: inf is not finite; allowed: a finite number or clo"),
        ({"criterion": {"between": [3, 2]}}, "empty or cannot fail"),
        ({"criterion": {"between": [3]}}, "criterion.between: "),
        ({"criterion": {"equals": 2, "tolerence": 1}}, "criterion: unknown field 'tolerence'; allowed: says, equals"),
        ({"criterion": {"equals": 2, "at_most": 1}}, "criterion: unknown field 'at_most'"),
        ({"criterion": {"about": 2}}, "criterion: this is not a criterion; allowed: equals .*, between, at_most or at"),
        ({"criterion": {"equals": "two apples"}}, "criterion.equals: 'two apples' is neither a number nor a closed"),
        ({"criterion": {"equals": True}}, "criterion.equals: True is neither a number nor a closed form"),
        ({"criterion": 3}, "criterion: this is not a criterion"),
        ({"expected": "true"}, "expected 'true'; allowed: 'holds, and more is true', 'holds', 'broken, statement"),
        ({"whose": "theirs"}, "whose 'theirs'; allowed: 'paper', 'reading', 'ours'"),
        ({"weight": "heavy"}, "weight 'heavy'; allowed: 'headline', 'detail', 'slip'"),
        ({"expected": "fails"}, "needs a reason"),
        ({"expected": "open"}, "needs a reason"),
        ({"expected": "false as printed, corrected", "reason": "x"}, "needs 'corrected', its statement 'correction'"),
        ({"expected": "holds, and more is true"}, "needs 'sharper', its statement 'sharpening' and its 'proof'"),
        ({"expected": "broken, statement stands", "reason": "x"}, "needs 'step_of'"),
        ({"min_sample": 3}, "unknown field 'min_sample'; allowed: .*min_samples"),
        ({"min_samples": 0.5}, "min_samples: input should be a valid integer, not 0.5"),
        ({"sampled": "yes"}, "sampled: input should be a valid boolean, not 'yes'"),
        ({"sampled": True, "criterion": {"equals": 2}}, "criterion: a sampled value never lies inside a point"),
        ({"reading": "as the mean"}, "'reading' says which reading a part of whose: reading takes"),
        ({"whose": "reading"}, "'reading' says which reading"),
        (OURS | {"weight": "slip"}, "weight: slip is for statements of a paper, not for ours"),
        (OURS | {"corrected": {"at_least": 9}}, "corrected is for statements of a paper, not for ours"),
        (OURS | {"sharper": {"equals": 2}}, "sharper is for statements of a paper"),
        (OURS | {"step_of": "T1.b"}, "step_of is for statements of a paper"),
        ({"sharper": {"equals": 2, "tolerance": 0.2}}, "must lie inside the criterion and be smaller"),
        ({"sharper": {"equals": 2, "tolerance": 0.1}}, "must lie inside the criterion and be smaller"),
        ({"sharper": {"equals": 2}, "corrected": {"equals": 3}}, "allowed: one of them"),
        ({"revised": {"why": "x"}}, "revised.from: the field is missing"),
        ({"revised": {"from": {}, "why": "x"}}, "revised.from: nothing stood before; allowed: one or more of criterio"),
        ({"revised": {"from": {"whose": "theirs"}, "why": "x"}}, "revised.from: whose 'theirs'; allowed: 'paper'"),
        ({"revised": {"from": {"whose": "ours"}}}, "revised.why: the field is missing"),
        ({"revised": {"from": {"criterion": {"about": 2}}, "why": "x"}}, "revised.from.criterion: this is not a"),
        ({"sharper": {"between": [1.95, 2]}, "rival": {"value": 2, "says": "x"}}, r"sharper \(in .* also accepts"),
    ],
)
def test_a_bad_part_is_refused(changes, message):
    with pytest.raises(LedgerError, match=f"^T1.a: {message}|^T1.a: .*{message}"):
        parse_part("T1.a", BASE | changes)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"a": BASE | OURS}, "no part is a headline of the paper"),
        ({"a": BASE | {"weight": "detail"}, "b": BASE | OURS}, "no part is a headline of the paper"),
        ({"a": BASE | {"one_of": "peak"}}, "one_of 'peak' stands at one part only"),
    ],
)
def test_a_claim_of_a_paper_is_about_the_paper(parts, message):
    with pytest.raises(ValueError, match=message):
        ClaimEntry.model_validate(claim(parts=parts))


def test_beyond_the_papers_headlines_are_ours():
    parts = {"a": BASE | OURS, "b": BASE | {"weight": "slip"}}
    own = Claim.of("X1", ClaimEntry.model_validate(claim("X", parts=parts)))
    assert [part.id for part in own.headlines] == ["X1.a"]
    theirs = Claim.of("T1", ClaimEntry.model_validate(claim(parts={"a": BASE | OURS, "b": BASE, "c": step("T1.b")})))
    assert [part.id for part in theirs.headlines] == ["T1.b"]
    assert parse_part("T1.a", SHARPER | {"rival": {"value": 2.1, "says": "the printed bound itself"}})


def test_the_digest_follows_criteria_and_not_words_or_conditions():
    same = {"where": "elsewhere", "statement": "other", "quantity": "y", "digits": 2, "expected": "holds"}
    same |= {"min_samples": 2, "needs": {"width": 512}}
    digest = parse_part("T1.a", BASE).digest()
    assert parse_part("T1.a", BASE | same | {"criterion": {"between": [1.9, 2.1], "says": "y"}}).digest() == digest
    others = [
        *({"criterion": {"equals": 2, "tolerance": 0.2}}, {"rival": {"value": 2.6, "says": "five halves"}}),
        *({"sampled": True}, {"whose": "ours"}, {"corrected": {"at_least": 9}}, {"sharper": {"equals": 2}}),
    ]
    digests = {parse_part("T1.a", BASE | change).digest() for change in others} | {digest}
    assert len(digests) == len(others) + 1
    assert parse_part("T1.a", SAMPLED).criteria()[0][0] == "criterion"
