import { expect, it } from 'vitest'
import { createEventStreamParser } from '../../server/client/event-stream.ts'

const stream = 'id: 1\r\nevent: log\r\ndata: {"line":"a"}\r\n\r\n: still here\n\nevent: step\ndata: one\ndata: two\n\nid: 3\rdata:last\r\r'

it('parses a stream the same however it is split', () => {
  const whole = createEventStreamParser()(`${stream}\n`)
  expect(whole).toEqual([
    { event: 'log', id: '1', data: '{"line":"a"}' },
    { event: 'step', id: undefined, data: 'one\ntwo' },
    { event: undefined, id: '3', data: 'last' },
  ])
  for (const size of [1, 2, 3, 7]) {
    const parse = createEventStreamParser()
    const events = []
    for (let at = 0; at <= stream.length; at += size) events.push(...parse(`${stream}\n`.slice(at, at + size)))
    expect(events).toEqual(whole)
  }
})

it('waits for the end of an event', () => {
  const parse = createEventStreamParser()
  expect(parse('data: half')).toEqual([])
  expect(parse(' and half\n')).toEqual([])
  expect(parse('\n')).toEqual([{ event: undefined, id: undefined, data: 'half and half' }])
})

it('refuses an event over the size limit', () => {
  const parse = createEventStreamParser({ max_chars: 10 })
  expect(parse('data: one\n\n')).toHaveLength(1)
  expect(parse('data: a line without an end')).toEqual([])
  expect(() => parse('.')).toThrow()
})
