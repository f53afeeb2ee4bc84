import { describe, expect, it } from 'vitest'
import { stripAnsi, parseAnsi } from '../../renderer/lib/ansi.ts'

describe('a line of a terminal', () => {
  it('keeps colors as styles', () => {
    expect(parseAnsi('\u001b[32mok\u001b[0m then \u001b[1;31mbad\u001b[39m bold')).toEqual([
      { text: 'ok', look: 'ink-green' },
      { text: ' then ', look: '' },
      { text: 'bad', look: 'ink-red bold' },
      { text: ' bold', look: 'bold' },
    ])
  })

  it('maps 256 and true colors to those of the theme', () => {
    expect(parseAnsi('\u001b[38;5;196mred\u001b[38;2;10;200;30mgreen\u001b[38;5;244mgrey').map(({ look }) => look)).toEqual([
      'ink-red',
      'ink-green',
      '',
    ])
  })

  it('applies carriage returns', () => {
    expect(stripAnsi('10 %\r55 %\r100 %')).toBe('100 %')
    expect(stripAnsi('downloading\rdone')).toBe('doneloading')
    expect(stripAnsi('downloading\r\u001b[Kdone')).toBe('done')
    expect(stripAnsi('downloading\u001b[2K\u001b[1Gdone')).toBe('done')
    expect(stripAnsi('abc\b\bX')).toBe('aXc')
  })

  it('drops links, titles and unknown codes, and keeps their text', () => {
    expect(stripAnsi('\u001b]8;;javascript:alert(1)\u0007here\u001b]8;;\u0007')).toBe('here')
    expect(stripAnsi('\u001b]0;title\u001b\\text')).toBe('text')
    expect(stripAnsi('\u001b[?25lhidden cursor\u001b[?25h\u0000\u0007')).toBe('hidden cursor')
    expect(stripAnsi('broken \u001b')).toBe('broken ')
  })

  it('expands tabs to eight columns', () => {
    expect(stripAnsi('a\tb')).toBe('a       b')
    expect(stripAnsi('12345678\tb')).toBe('12345678        b')
  })

  it('leaves plain text unchanged, markup included', () => {
    expect(parseAnsi('<script>1</script> é 漢 🚢')).toEqual([{ text: '<script>1</script> é 漢 🚢', look: '' }])
  })
})
