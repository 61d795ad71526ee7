-- Give up a job that its front no longer waits for.
--
-- KEYS: 1 state of the job, 2 reply list, 3 farm totals
-- ARGV: 1 time to live of the state in seconds, 2 field of the totals that counts abandoned jobs
-- Returns: false where the job is given up; the outcome (or false) where it had ended before
-- Atomic: either the front has given up or the worker has committed, never both.
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return redis.call('LINDEX', KEYS[2], 0) end
redis.call('HSET', KEYS[1], 'done', 'abandoned')
redis.call('EXPIRE', KEYS[1], ARGV[1])
redis.call('HINCRBYFLOAT', KEYS[3], ARGV[2], 1)
return false
