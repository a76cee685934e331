DELETE FROM leasehold_boot
