-- Open a session of a key, and end the least recently used ones beyond the limit.
--
-- KEYS: 1 sessions of the key
-- ARGV: 1 SHA-256 of the session's token, 2 SHA-256 of the key, 3 limit of sessions of a key,
--       4 idle timeout in seconds, 5 absolute timeout in seconds, 6 seconds between recorded uses
-- Returns: the second in which the session was opened
-- Atomic: two concurrent sign-ins could exceed the limit.
local now = tonumber(redis.call('TIME')[1])
local idle, absolute = tonumber(ARGV[4]), tonumber(ARGV[5])
local kept = {}
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
    local opened, used = string.match(entries[i + 1], '^%x+ (%d+) (%d+)$')
    if now - tonumber(opened) >= absolute or now - tonumber(used) >= idle then
        redis.call('HDEL', KEYS[1], entries[i])
    else
        kept[#kept + 1] = {entries[i], tonumber(used)}
    end
end
table.sort(kept, function(a, b) return a[2] < b[2] end)
for i = 1, #kept - tonumber(ARGV[3]) + 1 do
    redis.call('HDEL', KEYS[1], kept[i][1])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. now .. ' ' .. now)
redis.call('EXPIRE', KEYS[1], idle + tonumber(ARGV[6]))
return now
