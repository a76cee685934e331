DROP VIEW leasehold_leases;
