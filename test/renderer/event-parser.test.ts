import { expect, it } from 'vitest'
import { createEventParser } from '../../renderer/api/event-parser.ts'

const stream = 'id: 1\r\nevent: log\r\ndata: {"line":"a"}\r\n\r\n: still here\n\nevent: step\ndata: one\ndata: two\n\nid: 3\rdata:last\r\r'

it('reads a stream the same, in whatever pieces it comes', () => {
  const whole = createEventParser()(`${stream}\n`)
  expect(whole).toEqual([
    { event: 'log', id: '1', data: '{"line":"a"}' },
    { event: 'step', id: '1', data: 'one\ntwo' },
    { event: 'message', id: '3', data: 'last' },
  ])
  for (const size of [1, 2, 3, 7]) {
    const parse = createEventParser()
    const events = []
    for (let at = 0; at <= stream.length; at += size) events.push(...parse(`${stream}\n`.slice(at, at + size)))
    expect(events).toEqual(whole)
  }
})

it('waits for the end of an event', () => {
  const parse = createEventParser()
  expect(parse('data: half')).toEqual([])
  expect(parse(' and half\n')).toEqual([])
  expect(parse('\n')).toEqual([{ event: 'message', id: null, data: 'half and half' }])
})
