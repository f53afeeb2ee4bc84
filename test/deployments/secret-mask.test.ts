import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSecretMask } from '../../server/deployments/secret-mask.ts'
import { newSeed } from '../support/corpus.ts'
import { isFullTier } from '../support/tier.ts'

const secret = 'p@ss/word+with "odd" ch4rs'
const mask = createSecretMask([secret, 'short', 'first line of many\nsecond line of many'])

describe('secrets in a line', () => {
  test.for([
    ['plain', secret],
    ['percent-encoded', encodeURIComponent(secret)],
    ['inside JSON', JSON.stringify({ value: secret })],
    ['inside JSON inside JSON', JSON.stringify(JSON.stringify({ value: secret }))],
    ['hexadecimal', Buffer.from(secret).toString('hex')],
    ['hexadecimal in capitals', Buffer.from(secret).toString('hex').toUpperCase()],
    ['base64', Buffer.from(secret).toString('base64')],
    ['base64 for URLs', Buffer.from(secret).toString('base64url')],
    ['in upper case', secret.toUpperCase()],
    ['in lower case', secret.toLowerCase()],
    ['percent-encoded in lower case', encodeURIComponent(secret).toLowerCase()],
    ['one line of several', 'second line of many'],
  ])('%s is hidden', ([, text]) => {
    const masked = mask(`before ${text} after`)
    expect(masked).toContain('••••••')
    expect(masked.toLowerCase()).not.toContain('word')
    expect(masked.toLowerCase()).not.toContain(Buffer.from('word').toString('hex'))
    expect(masked).toMatch(/^before .*after$/)
  })

  test('anywhere inside a longer base64 text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), (before, after) => {
        const masked = mask(Buffer.from(`${before}${secret}${after}`).toString('base64'))
        expect(masked).toContain('••••••')
        const left = Buffer.from(masked.split('••••••')[0] ?? '', 'base64').toString()
        expect(left).not.toContain(secret.slice(0, 8))
      }),
      { seed: isFullTier ? newSeed() : 20_261_121 },
    )
  })

  const wrapped = (text: string, width: number) => text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []
  test.each([
    ['plain', secret],
    ['in upper case', secret.toUpperCase()],
    ['base64', Buffer.from(`before ${secret} after`.repeat(5)).toString('base64')],
    ['hexadecimal', Buffer.from(secret).toString('hex')],
  ])('%s is hidden where it is wrapped', (_what, text) => {
    for (const width of [5, 9, 20, 76]) {
      const masked = mask.lines(['first', ...wrapped(text, width).map((part) => `  ${part}\r`), 'last'])
      expect([masked[0], masked.at(-1)]).toEqual(['first', 'last'])
      const left = masked
        .slice(1, -1)
        .map((line) => line.trim())
        .filter((line) => line.length > 4 && !line.includes('•'))
      for (const line of left) expect(Buffer.from(line, 'base64').toString()).not.toContain('word')
      expect(masked.map((line) => line.trim()).join('')).not.toContain(text)
      expect(masked.join('')).toContain('••••••')
    }
  })
  test('the rest of a secret is masked when its start was already stored, and a start when more than half of it is present', () => {
    expect(mask.lines([`${secret.slice(10)} after`], secret.slice(0, 10))).toEqual(['•••••• after'])
    expect(mask.lines([`before ${secret.slice(0, 14)}`])).toEqual(['before ••••••'])
    expect(mask.lines([`before ${secret.slice(0, 6)}`])).toEqual([`before ${secret.slice(0, 6)}`])
  })
  test('lines without a secret are unchanged', () => {
    const lines = ['', '  indented\r', 'p@ss', 'and more']
    expect(mask.lines(lines)).toEqual(lines)
  })

  test('a value too short to be a secret is not masked', () => expect(mask('a short line')).toBe('a short line'))
  test('without secrets nothing changes', () => expect(createSecretMask([])('x')).toBe('x'))
})
