import { expect, test } from 'vitest'
import { type Promotion, usePromotions } from '../../../renderer/stores/promotions.ts'

const promotion: Promotion = {
  key: 'local shop',
  from: { id: 'local', name: 'This machine', slug: 'shop' },
  to: { id: 'rem_1', name: 'Office', slug: 'shop' },
  state: 'running',
  is_given_up: false,
  steps: [],
  transfer: null,
  problem: null,
  report: [],
  deployment_id: null,
  cancel() {},
  retry() {},
}
const { put, remove } = usePromotions.getState()

test.each([
  ['running', true],
  ['undoing', true],
  ['failed', false],
  ['done', false],
  ['cut', false],
] as const)('whether the browser asks before the page of a promotion that is %s is left', (state, expected) => {
  put({ ...promotion, state })
  expect(!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))).toBe(expected)
})

test('a promotion is known by its key', () => {
  put(promotion)
  put({ ...promotion, key: 'local blog' })
  put({ ...promotion, state: 'done' })
  const states = () => usePromotions.getState().promotions.map(({ key, state }) => `${key}: ${state}`)
  expect(states()).toEqual(['local shop: done', 'local blog: running'])
  remove('local shop')
  expect(states()).toEqual(['local blog: running'])
})
