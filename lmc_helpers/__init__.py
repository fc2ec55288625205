"""Mathematics and book-keeping behind the chapters; import the modules one by one."""
