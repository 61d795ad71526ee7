-- Take a recorded job that no worker has begun out of its queue, and end it.
--
-- KEYS: 1 state of the job, 2 queue
-- ARGV: 1 word to end it with, 2 time to live of the state in seconds, 3 start of the delivery tag of its
--       messages; it stands in quotes of the message's own, which no body can hold unescaped
-- Returns: 1 where it was withdrawn, 0 where it was begun or has ended
-- Atomic: a worker that begins the job in between would run what is on record as failed.
local state = redis.call('HMGET', KEYS[1], 'done', 'deliveries')
if state[1] or tonumber(state[2] or '0') > 0 then return 0 end
redis.call('HSET', KEYS[1], 'done', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
for _, message in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
    if string.find(message, ARGV[3], 1, true) then redis.call('LREM', KEYS[2], 1, message) end
end
return 1
