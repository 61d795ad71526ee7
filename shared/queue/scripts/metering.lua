-- The rule of metering, for the scripts that end work: included, not run by itself.
--
-- `judge_events` reads and compares, `record_events` writes; a script calls the second after the last of
-- its own comparisons, so that it happens whole or not at all.
--
-- events: a list of pages and event text in turns, the text '' where there is nothing to meter.
-- cap: pages at which the account is refused, '' for none. The document that passes the cap still counts:
-- a render is refused only where the cap was reached before it.

-- Return a verdict for each event ('' where it counts, the pages used before it where it is refused), and
-- the sums of those that count: {verdicts, pages, calls, texts}.
local function judge_events(counters, allowance, cap, events)
    local used = tonumber(redis.call('HGET', counters, allowance .. ':pages') or '0')
    local judged = {verdicts = {}, pages = 0, calls = 0, texts = {}}
    for i = 1, #events, 2 do
        local verdict = ''
        if events[i + 1] ~= '' then
            if cap ~= '' and used + judged.pages >= tonumber(cap) then
                verdict = tostring(used + judged.pages)
            else
                judged.pages = judged.pages + tonumber(events[i])
                judged.calls = judged.calls + 1
                judged.texts[judged.calls] = events[i + 1]
            end
        end
        judged.verdicts[#judged.verdicts + 1] = verdict
    end
    return judged
end

-- Raise the account's counters and append the events that count to the usage stream.
local function record_events(counters, stream, allowance, judged, counter_ttl)
    if judged.calls == 0 then return end
    redis.call('HINCRBY', counters, allowance .. ':pages', judged.pages)
    redis.call('HINCRBY', counters, allowance .. ':calls', judged.calls)
    redis.call('EXPIRE', counters, counter_ttl)
    for _, text in ipairs(judged.texts) do redis.call('XADD', stream, '*', 'event', text) end
end
