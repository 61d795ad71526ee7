-- Admission places: permits for the queued and running jobs with a waiting client.
--
-- places:jobs      hash of jobs: state ('held', 'waiting', 'fetching'), start of the state, queue and account
-- places:leases    sorted set of these jobs, by the end of their lease
-- places:held      sorted set of accounts, by number of held places
-- places:recent    sorted set of accounts, by the time of their last job
-- places:turns     sorted set of accounts with waiting jobs, the one whose last grant was longest ago first
-- places:granted   hash of accounts: number of their last grant
-- places:line:ID   queue of an account's waiting jobs, the oldest at the left
-- places:fetching  hash of accounts: number of jobs that wait for remote images
-- places:seconds   hash of accounts: average time that recent jobs held a place
-- places:expected  hash of held jobs: microseconds that each may take
-- places:facts     hash: held places, microseconds that these may take, slots of the workers, the number of the
--                  last grant
-- place:JOB        list that wakes the front of a waiting job: 'held', or 'gone' if it no longer waits
--
-- The keys are not in KEYS: which of them a script needs depends on the state.

local RECENT_SECONDS = 10  -- an account shares the slots for this long after its last job
local QUEUE_SECONDS = 0.01  -- a job may queue beyond the slots if those before it take less time,
local ALONE_SECONDS = 0.25  -- or less than this if no other account is active
local QUEUED_PER_SLOT = 4
local UNKNOWN_SECONDS = 1.0  -- assumed duration of a job of an account without recent jobs
local WAKE_TTL_SECONDS = 60
local CLEARED_AT_ONCE = 20

-- Return the job of the key of its state.
local function find_job(key)
    return string.sub(key, 5)
end

local function read_clock()
    local time = redis.call('TIME')
    return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

local function find_place(job)
    local entry = redis.call('HGET', 'places:jobs', job)
    if not entry then return nil end
    local state, since, queue, account = string.match(entry, '^(%a+) (%S+) (%S+) (.+)$')
    return {state = state, since = tonumber(since), queue = queue, account = account}
end

local function write_place(job, state, now, queue, account)
    local entry = string.format('%s %.6f %s %s', state, now, queue, account)
    redis.call('HSET', 'places:jobs', job, entry)
end

-- Active accounts share the slots. An account may exceed its share, but a place stays free for each other
-- active account that holds none, up to half of the slots. Jobs may queue behind short ones beyond the slots,
-- so that no slot idles while the next job is delivered; how long the job itself may take does not count, or
-- the jobs of others would always be before a long one.
local function may_hold(account, now)
    local facts = redis.call('HMGET', 'places:facts', 'slots', 'held', 'expected')
    local slots = math.max(tonumber(facts[1] or '0'), 1)
    local held = tonumber(facts[2] or '0')
    local mine = tonumber(redis.call('ZSCORE', 'places:held', account) or '0')
    local active = redis.call('ZCOUNT', 'places:recent', now - RECENT_SECONDS, '+inf')
    if mine >= math.max(math.floor(slots / math.max(active, 1)), 1) then
        local idle = math.max(active - redis.call('ZCARD', 'places:held'), 0)
        held = held + math.min(idle, math.floor(slots / 2))
    end
    if held < slots then return true end
    local queue_seconds = active > 1 and QUEUE_SECONDS or ALONE_SECONDS
    return tonumber(facts[3] or '0') < queue_seconds * slots * 1000000
        and held < (1 + QUEUED_PER_SLOT) * slots
end

local function find_seconds(account)
    return tonumber(redis.call('HGET', 'places:seconds', account) or UNKNOWN_SECONDS)
end

local function hold_place(job, now, queue, account)
    write_place(job, 'held', now, queue, account)
    redis.call('ZINCRBY', 'places:held', 1, account)
    redis.call('HINCRBY', 'places:facts', 'held', 1)
    local expected = math.floor(find_seconds(account) * 1000000)
    redis.call('HSET', 'places:expected', job, expected)
    redis.call('HINCRBY', 'places:facts', 'expected', expected)
    redis.call('HSET', 'places:granted', account, redis.call('HINCRBY', 'places:facts', 'turn', 1))
end

-- An account that waits again is not behind all others: one that renders now and then is next, and those that
-- always wait take turns.
local function take_turn(account)
    redis.call('ZADD', 'places:turns', redis.call('HGET', 'places:granted', account) or 0, account)
end

local function note_seconds(account, seconds)
    local before = find_seconds(account)
    local average = math.max(seconds, 0.7 * before + 0.3 * seconds, 0.0001)
    if math.abs(average - before) > before / 10 then
        redis.call('HSET', 'places:seconds', account, string.format('%.6f', average))
    end
end

local function wake(job, state)
    redis.call('RPUSH', 'place:' .. job, state)
    redis.call('EXPIRE', 'place:' .. job, WAKE_TTL_SECONDS)
end

local function end_hold(job, account)
    if tonumber(redis.call('ZINCRBY', 'places:held', -1, account)) <= 0 then
        redis.call('ZREM', 'places:held', account)
    end
    if redis.call('HINCRBY', 'places:facts', 'held', -1) > 0 then
        local expected = redis.call('HGET', 'places:expected', job) or 0
        redis.call('HINCRBY', 'places:facts', 'expected', 0 - expected)
        redis.call('HDEL', 'places:expected', job)
    else  -- processes of the release before leave what they do not know
        redis.call('HSET', 'places:facts', 'expected', 0)
        redis.call('DEL', 'places:expected')
    end
end

local function remove_place(job, place)
    redis.call('HDEL', 'places:jobs', job)
    redis.call('ZREM', 'places:leases', job)
    local account = place.account
    if place.state == 'held' then
        end_hold(job, account)
    elseif place.state == 'waiting' then
        redis.call('LREM', 'places:line:' .. account, 1, job)
        if redis.call('EXISTS', 'places:line:' .. account) == 0 then
            redis.call('ZREM', 'places:turns', account)
        end
        wake(job, 'gone')
    elseif redis.call('HINCRBY', 'places:fetching', account, -1) <= 0 then
        redis.call('HDEL', 'places:fetching', account)
    end
end

local function grant_one(account, now)
    local line = 'places:line:' .. account
    local job = redis.call('LPOP', line)
    local place = job and find_place(job)
    if place then
        hold_place(job, now, place.queue, account)
        wake(job, 'held')
    end
    if redis.call('EXISTS', line) == 1 then
        take_turn(account)
    else
        redis.call('ZREM', 'places:turns', account)
    end
end

local function grant_places(now)
    local has_granted = true
    while has_granted do
        has_granted = false
        for _, account in ipairs(redis.call('ZRANGE', 'places:turns', 0, 63)) do
            if may_hold(account, now) then
                grant_one(account, now)
                has_granted = true
            end
        end
    end
end

-- Remove places with expired leases, and return whether there were any.
local function remove_expired_places(now)
    local lapsed = redis.call('ZRANGEBYSCORE', 'places:leases', '-inf', now, 'LIMIT', 0, CLEARED_AT_ONCE)
    for _, job in ipairs(lapsed) do
        local place = find_place(job)
        if place then remove_place(job, place) else redis.call('ZREM', 'places:leases', job) end
    end
    return #lapsed > 0
end

-- Set the number of slots and remove places with expired leases; if either frees places, grant them.
local function update_places(slots, now)
    local before = tonumber(redis.call('HGET', 'places:facts', 'slots') or '0')
    redis.call('HSET', 'places:facts', 'slots', slots)
    local has_removed = remove_expired_places(now)
    if has_removed or tonumber(slots) > before then grant_places(now) end
end

-- Mark an account as active; if it is new, remove some that have long been inactive.
local function mark_active(account, now)
    if redis.call('ZADD', 'places:recent', now, account) == 0 then return end
    local old = redis.call('ZRANGEBYSCORE', 'places:recent', '-inf', now - 6 * RECENT_SECONDS,
        'LIMIT', 0, CLEARED_AT_ONCE)
    for _, gone in ipairs(old) do
        redis.call('ZREM', 'places:recent', gone)
        redis.call('HDEL', 'places:seconds', gone)
        redis.call('HDEL', 'places:granted', gone)
    end
end

-- Release the place of a job, if it has one, and grant it to the next job.
local function release_place(job, has_ended)
    local place = find_place(job)
    if not place then return end
    local now = read_clock()
    remove_place(job, place)
    if has_ended and place.state == 'held' then note_seconds(place.account, now - place.since) end
    grant_places(now)
end
