-- End a recorded job without an outcome, as cancelled or overdue.
--
-- KEYS: 1 state of the job
-- ARGV: 1 reason of the end, 2 time to live of the state in seconds
-- Returns: false if this ended it, now or before; {reason, outcome} if it had ended otherwise
-- Atomic: a commit in between would be overwritten.
--- @include places
local state = redis.call('HMGET', KEYS[1], 'done', 'outcome')
if state[1] and state[1] ~= ARGV[1] then return state end
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
release_place(find_job(KEYS[1]), true)
return false
