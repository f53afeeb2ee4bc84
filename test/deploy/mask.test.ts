import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMask } from '../../server/deploy/mask.ts'
import { freshSeed } from '../support/corpus.ts'

const secret = 'p@ss/word+with "odd" ch4rs'
const mask = createMask([secret, 'short', 'first line of many\nsecond line of many'])

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
    ['one line of several', 'second line of many'],
  ])('%s is hidden', ([, text]) => {
    const masked = mask(`before ${text} after`)
    expect(masked).toContain('••••••')
    expect(masked).not.toContain('word')
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
      { seed: process.env.HOMEPORT_TEST_TIER === 'full' ? freshSeed() : 20_261_121 },
    )
  })

  test('what is too short to tell from any word stays', () => expect(mask('a short line')).toBe('a short line'))
  test('without secrets nothing changes', () => expect(createMask([])('x')).toBe('x'))
})
