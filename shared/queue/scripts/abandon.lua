-- Abandon a job that its front no longer waits for.
--
-- KEYS: 1 state of the job, 2 reply list
-- ARGV: 1 time to live of the state in seconds
-- Returns: false if the job is abandoned; the outcome (or false) if it had ended before
-- Atomic: either the front abandons the job or the worker commits it, never both.
--- @include places
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return redis.call('LINDEX', KEYS[2], 0) end
redis.call('HSET', KEYS[1], 'done', 'abandoned')
redis.call('EXPIRE', KEYS[1], ARGV[1])
release_place(find_job(KEYS[1]), true)
return false
