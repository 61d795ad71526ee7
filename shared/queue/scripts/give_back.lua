-- Take back the count of a delivery that came to nothing through no fault of its job.
--
-- KEYS: 1 state of the job
-- ARGV: none
-- Returns: the deliveries counted now, 0 where the job has ended
-- Atomic: the state of a job that ended meanwhile must not be changed.
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return 0 end
return redis.call('HINCRBY', KEYS[1], 'deliveries', -1)
