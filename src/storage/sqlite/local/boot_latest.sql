SELECT boot_id, machine_id FROM leasehold_boot ORDER BY seen DESC LIMIT 1
