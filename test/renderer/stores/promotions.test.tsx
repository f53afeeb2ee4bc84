import { expect, test } from 'vitest'
import { usePromotions } from '../../../renderer/stores/promotions.ts'
import { createPromotion } from '../../support/promotion.ts'

const { put, remove } = usePromotions.getState()

test.each([
  ['running', true],
  ['undoing', true],
  ['failed', false],
  ['done', false],
  ['cut', false],
] as const)('whether the browser asks before the page of a promotion that is %s is left', (state, expected) => {
  put(createPromotion({ state }))
  expect(!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))).toBe(expected)
})

test('a promotion is known by its key', () => {
  put(createPromotion())
  put(createPromotion({ key: 'local blog' }))
  put(createPromotion({ state: 'done' }))
  const states = () => usePromotions.getState().promotions.map(({ key, state }) => `${key}: ${state}`)
  expect(states()).toEqual(['local my-shop: done', 'local blog: running'])
  remove('local my-shop')
  expect(states()).toEqual(['local blog: running'])
})
