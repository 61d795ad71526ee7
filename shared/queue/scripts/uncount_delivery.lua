-- Decrement the delivery count of a job that did not end, through no fault of its own.
--
-- KEYS: 1 state of the job
-- ARGV: none
-- Returns: the new count, 0 if the job has ended
-- Atomic: the state of a job that ended meanwhile must not be changed.
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return 0 end
return redis.call('HINCRBY', KEYS[1], 'deliveries', -1)
