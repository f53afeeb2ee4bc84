import type { DomainEvent } from '../../server/contract/domain-events.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogWriter, type LogWriter } from '../../server/deployments/log-writer.ts'
import { createSecretMask } from '../../server/deployments/secret-mask.ts'
import { followBuildLog, followRuntimeLog } from '../../server/deployments/log-streams.ts'
import type { StreamEvent } from '../../server/contract/operation.ts'
import { createEventBus } from '../../server/lib/event-bus.ts'
import { silentLog } from '../../server/lib/log.ts'
import type { Store } from '../../server/store/store.ts'
import { openMemoryStore } from '../support/api-server.ts'
import { createTestClock } from '../support/test-clock.ts'

let store: Store
const events = createEventBus<DomainEvent>()
const clock = createTestClock({ frozen_at: '2026-01-31T12:00:00.000Z' })
const deps = () => ({ db: store.db, logs: store.logs, events, clock })
beforeEach(async () => {
  store = await openMemoryStore(clock)
})
afterEach(() => store.close())

const writerOf = (stream: string, head = 25e6, tail = 25e6): LogWriter =>
  createLogWriter({ logs: store.logs, events, clock, log: silentLog, stream, keep_head_bytes: head, keep_tail_bytes: tail })
const fields = '"stream":"stdout","deployment_id":null'

async function take(events: AsyncIterable<StreamEvent>, enough: (event: StreamEvent) => boolean): Promise<StreamEvent[]> {
  const taken: StreamEvent[] = []
  for await (const event of events) {
    taken.push(event)
    if (enough(event)) break
  }
  return taken
}
const seqOf = (event: StreamEvent) => (JSON.parse(String(event.data)) as { seq: number }).seq

describe('a log', () => {
  test('numbers lines and records separately, also across a restart', () => {
    const first = writerOf('prj_1')
    first.writeLine(fields, 'one')
    first.writeRecord({ state: 'running', ts: 'now' })
    first.writeLine(fields, 'two')
    first.flush()
    expect(store.logs.readEnd('prj_1')).toEqual({ record: 3, line: 2 })
    const second = writerOf('prj_1')
    second.writeLine(fields, 'three')
    second.flush()
    expect(store.logs.readEnd('prj_1')).toEqual({ record: 4, line: 3 })
  })

  test('returns its last lines, however batches were split', () => {
    for (let batch = 0; batch < 40; batch++) {
      const writer = writerOf('prj_2')
      for (let i = 0; i < 7; i++) writer.writeLine(fields, `line ${batch * 7 + i + 1}`)
      writer.writeRecord({ state: 'running', ts: 'now' })
      writer.flush()
    }
    for (const lines of [1, 6, 7, 8, 100, 280, 1000]) {
      let position = store.logs.positionBeforeLast('prj_2', lines)
      const seen: string[] = []
      for (let chunk = store.logs.readAfter('prj_2', position); chunk; chunk = store.logs.readAfter('prj_2', position)) {
        seen.push(...chunk.body.split('\n').slice(Math.max(0, position + 1 - chunk.first)))
        position = chunk.first + chunk.records - 1
      }
      const texts = seen.filter((record) => record.startsWith('{"seq"'))
      expect(texts.length).toBe(Math.min(lines, 280))
      expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({ seq: 280, line: 'line 280' })
    }
  })

  test('keeps its head and its tail when it grows too long, and tells a reader how much is missing', async () => {
    const writer = writerOf('prj_3', 100_000, 200_000)
    for (let i = 1; i <= 20_000; i++) writer.writeLine(fields, `line ${i} ${'x'.repeat(80)}`)
    writer.flush()
    const signal = new AbortController()
    const events = await take(
      followRuntimeLog(deps(), 'prj_3', { lines: 20_000, last_event_id: 'prj_3.1', json: true, signal: signal.signal }),
      (event) => event.event === 'log' && seqOf(event) === 20_000,
    )
    const lagged = events.filter((event) => event.event === 'lagged')
    expect(lagged).toHaveLength(1)
    const lines = events.filter((event) => event.event === 'log')
    expect((lagged[0]!.data as { dropped: number }).dropped + lines.length).toBe(19_999)
    expect(lines.length).toBeGreaterThan(500)
    expect(lines.length).toBeLessThan(5_000)
  })

  test('truncates a line of a megabyte', () => {
    const writer = writerOf('prj_4')
    writer.writeLine(fields, 'x'.repeat(1_000_000))
    writer.flush()
    const { line } = JSON.parse(store.logs.readAfter('prj_4', 0)?.body ?? '') as { line: string }
    expect(line.length).toBeLessThan(17_000)
    expect(line).toContain('more characters')
  })

  test('masks secrets before storing anything', () => {
    const writer = writerOf('prj_5')
    writer.setMask(createSecretMask(['hunter2hunter2']))
    writer.writeLine(fields, 'the password is hunter2hunter2')
    writer.flush()
    expect(store.logs.readAfter('prj_5', 0)?.body).toContain('the password is ••••••')
  })

  test('masks a secret wrapped over lines, in one batch or two', () => {
    const writer = writerOf('prj_5')
    writer.setMask(createSecretMask(['hunter2-rabbit7']))
    writer.writeLine(fields, 'the password is hunter2-')
    writer.writeLine('"stream":"stderr","deployment_id":null', 'of another origin')
    writer.writeLine(fields, 'rabbit7')
    writer.writeLine(fields, 'again HUNT')
    writer.flush()
    writer.writeLine(fields, 'ER2-RABBIT7, and more')
    writer.flush()
    const lines = store.logs
      .readAfter('prj_5', 0)
      ?.body.split('\n')
      .map((text) => (JSON.parse(text) as { line: string }).line)
    expect(lines).toEqual(['the password is ••••••', 'of another origin', '••••••', 'again HUNT'])
    expect(store.logs.readAfter('prj_5', 4)?.body).toContain('"line":"••••••, and more"')
  })
})

describe('a follower', () => {
  test('of a runtime log continues live, and resumes without a gap or a repeat', async () => {
    const writer = writerOf('prj_6')
    for (let i = 1; i <= 50; i++) writer.writeLine(fields, `line ${i}`)
    writer.flush()
    const signal = new AbortController()
    const first = await take(
      followRuntimeLog(deps(), 'prj_6', { lines: 20, last_event_id: undefined, json: true, signal: signal.signal }),
      (event) => seqOf(event) === 42,
    )
    expect(first.map(seqOf)).toEqual(Array.from({ length: 12 }, (_, i) => 31 + i))
    const rest = take(
      followRuntimeLog(deps(), 'prj_6', { lines: 20, last_event_id: first.at(-1)?.id, json: true, signal: signal.signal }),
      (event) => seqOf(event) === 60,
    )
    for (let i = 51; i <= 60; i++) writer.writeLine(fields, `line ${i}`)
    writer.flush()
    expect((await rest).map(seqOf)).toEqual(Array.from({ length: 18 }, (_, i) => 43 + i))
  })

  test('with an unknown id gets the whole backlog', async () => {
    const writer = writerOf('prj_7')
    for (let i = 1; i <= 30; i++) writer.writeLine(fields, `line ${i}`)
    writer.flush()
    for (const foreign of ['prj_6.12', 'garbage', 'prj_7.x', '']) {
      const signal = new AbortController()
      const events = await take(
        followRuntimeLog(deps(), 'prj_7', { lines: 100, last_event_id: foreign, json: true, signal: signal.signal }),
        (event) => seqOf(event) === 30,
      )
      expect(events).toHaveLength(30)
    }
  })

  test('ends when its reader disconnects', async () => {
    const controller = new AbortController()
    const events = followRuntimeLog(deps(), 'prj_8', {
      lines: 20,
      last_event_id: undefined,
      json: true,
      signal: controller.signal,
    })
    const next = events.next()
    controller.abort()
    expect(await next).toMatchObject({ done: true })
  })

  test('of a deleted deployment ends at once', async () => {
    const events = followBuildLog(deps(), 'dpl_none', {
      last_event_id: undefined,
      signal: new AbortController().signal,
    })
    expect(await events.next()).toMatchObject({ done: true })
  })
})
