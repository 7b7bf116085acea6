"""What one partition knows beside its records: producers, transactions, leader epochs."""
