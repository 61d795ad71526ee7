-- Find the slices of batches that are neither in the queue nor in a worker's hands.
--
-- KEYS: 1 messages sent, 2 messages that workers hold (kombu's), 3 queue
-- ARGV: name and delivery tag of each slice
-- Returns: the names of the lost ones
-- Atomic: a message that moves between the looks would be seen nowhere.
local lost = {}
-- A message that a dead worker held is put back with other text, at the end that is taken from; so the
-- last few are searched for its tag as well.
local next = redis.call('LRANGE', KEYS[3], -20, -1)
for i = 1, #ARGV, 2 do
    local there = redis.call('HEXISTS', KEYS[2], ARGV[i + 1]) == 1
    if not there then
        local message = redis.call('HGET', KEYS[1], ARGV[i])
        there = message and redis.call('LPOS', KEYS[3], message)
    end
    if not there then
        for _, waiting in ipairs(next) do
            if string.find(waiting, ARGV[i + 1], 1, true) then there = true end
        end
    end
    if not there then lost[#lost + 1] = ARGV[i] end
end
return lost
