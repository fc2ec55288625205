"""What one chapter alone computes: private, one file a chapter, without guards."""
