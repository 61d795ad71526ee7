-- Return the key of a session and record its use, or end the session if it has expired.
--
-- KEYS: 1 sessions of a key
-- ARGV: 1 SHA-256 of the session's token, 2 idle timeout in seconds, 3 absolute timeout in seconds,
--       4 seconds between recorded uses
-- Returns: false without a live session; else {SHA-256 of the key, second in which it was opened}
-- Atomic: a session ended between reading and recording would be restored.
local entry = redis.call('HGET', KEYS[1], ARGV[1])
if not entry then return false end
local digest, opened, used = string.match(entry, '^(%x+) (%d+) (%d+)$')
local now = tonumber(redis.call('TIME')[1])
if now - tonumber(opened) >= tonumber(ARGV[3]) or now - tonumber(used) >= tonumber(ARGV[2]) then
    redis.call('HDEL', KEYS[1], ARGV[1])
    return false
end
if now - tonumber(used) >= tonumber(ARGV[4]) then
    redis.call('HSET', KEYS[1], ARGV[1], digest .. ' ' .. opened .. ' ' .. now)
    redis.call('EXPIRE', KEYS[1], tonumber(ARGV[2]) + tonumber(ARGV[4]))
end
return {digest, tonumber(opened)}
