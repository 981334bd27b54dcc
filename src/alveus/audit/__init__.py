"""Content-free receipts and the one judge of them: spec/audit.md. Pure; the ledger lies in `store`."""
