-- End a job that a newer one supersedes, and wake the front that waits for it.
--
-- KEYS: 1 state of the job, 2 reply list
-- ARGV: 1 reason of the end, 2 time to live of the state in seconds, 3 outcome, 4 its time to live
-- Returns: 1 if this ended it, 0 if it had ended before
-- Atomic: a commit in between would give the front two outcomes.
--- @include places
if redis.call('HEXISTS', KEYS[1], 'done') == 1 then return 0 end
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('RPUSH', KEYS[2], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[4])
release_place(find_job(KEYS[1]), true)
return 1
