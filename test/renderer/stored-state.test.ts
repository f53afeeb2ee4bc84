import { describe, expect, test } from 'vitest'
import { parseStoredPromotions } from '../../renderer/features/promotion/promotion-storage.ts'
import { parseStoredTour } from '../../renderer/stores/tour.ts'

describe('the state that an earlier version of the dashboard stored is read', () => {
  test('the tour', () => {
    expect(parseStoredTour('{"wish":"closed","done":["visit","palette"]}')).toEqual({ visibility: 'closed', done: ['open', 'palette'] })
    expect(parseStoredTour('{"visibility":"reopened","done":["redeploy"]}')).toEqual({ visibility: 'reopened', done: ['redeploy'] })
    expect(parseStoredTour('?')).toEqual({ visibility: 'automatic', done: [] })
  })

  test('a promotion', () => {
    const rest = { key: 'p', from: { id: 'a', slug: 'a' }, to: { id: 'b', slug: 'b' }, done: {}, steps_done: [], is_given_up: false }
    const request = { variables: ['A'] }
    expect(parseStoredPromotions(JSON.stringify([{ ...rest, wish: request }, { ...rest, request }, rest, null]))).toEqual([])
    expect(parseStoredPromotions(JSON.stringify([{ ...rest, wish: request }, { ...rest, request }, rest]))).toEqual([
      { ...rest, request },
      { ...rest, request },
    ])
  })
})
