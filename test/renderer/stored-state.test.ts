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
    const linesOf = (copied: string, notCopied: string) => [copied, 'kept', notCopied].map((outcome) => ({ item: 'Redis', outcome, note: '' }))
    const lines = linesOf('carried', 'not_carried')
    expect(parseStoredPromotions(JSON.stringify([{ ...rest, request, done: { report: lines }, not_carried: lines }]))).toEqual([
      { ...rest, request, done: { report: linesOf('copied', 'not_copied') }, not_copied: linesOf('copied', 'not_copied') },
    ])
  })
})
