import { describe, expect, test } from 'vitest'
import { createHostLabels } from '../../server/lib/branch-label.ts'

const first = (branch: string, slug = 'my-app') => createHostLabels(branch, slug)[0]

describe('the name of a preview', () => {
  test.each([
    ['feature', 'feature--my-app'],
    ['feature/New_Login', 'feature-new-login--my-app'],
    ['--fix..it--', 'fix-it--my-app'],
    ['Ünïcode', 'unicode--my-app'],
    ['v2', 'v2--my-app'],
    ['a'.repeat(55), `${'a'.repeat(55)}--my-app`],
  ])('%s', (branch, label) => {
    expect(first(branch)).toBe(label)
  })

  test.each([['日本'], ['xn'], ['a'.repeat(56)], [`${'long-'.repeat(40)}end`]])('%s gets a hash in its name', (branch) => {
    expect(first(branch)).toMatch(/^([a-z0-9-]+-)?[0-9a-f]{6}--my-app$/)
  })

  test('another branch with the same label gets a different name', () => {
    const [one, other] = [createHostLabels('feature/x', 'my-app'), createHostLabels('feature-x', 'my-app')]
    expect(one[0]).toBe(other[0])
    expect(one[1]).not.toBe(other[1])
  })

  test('every name is a valid DNS label, whatever the branch and the slug', () => {
    const branches = ['a', '日本', 'x'.repeat(255), 'a/b/c', 'ends-with-', '1', 'A--B', 'é'.repeat(100)]
    for (const slug of ['abc', 'a'.repeat(20), 'a'.repeat(50)])
      for (const branch of branches)
        for (const label of createHostLabels(branch, slug)) {
          expect(label).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
          expect(label.endsWith(`--${slug}`)).toBe(true)
          expect(label.startsWith('xn--')).toBe(false)
        }
  })
})
