import { describe, expect, it } from 'vitest'
import { type TourFacts, buildTourSteps } from '../../renderer/features/tour/tour-steps.ts'

const nothing: TourFacts = {
  slug: 'boat',
  address: 'http://boat.localhost:4680',
  was_visited: false,
  ready_deployments: 1,
  variables: 0,
  has_preview: false,
  has_database: false,
  is_network_open: false,
}
const done = (facts: Partial<TourFacts>, before: string[] = []) =>
  buildTourSteps({ ...nothing, ...facts }, before)
    .filter((step) => step.is_done)
    .map(({ id }) => id)

describe('the first steps', () => {
  it('after the first deployment none is done', () => expect(done({})).toEqual([]))

  it.each<[string, Partial<TourFacts>]>([
    ['open', { was_visited: true }],
    ['redeploy', { ready_deployments: 2 }],
    ['variable', { variables: 1 }],
    ['database', { has_database: true }],
    ['database', { has_preview: true }],
    ['phone', { is_network_open: true }],
  ])('%s is checked off by what happened', (id, facts) => expect(done(facts)).toEqual([id]))

  it('completed steps stay completed', () => expect(done({}, ['palette', 'variable'])).toEqual(['variable', 'palette']))

  it('a user who may not open the network has no such step', () => {
    expect(buildTourSteps({ ...nothing, is_network_open: null }, []).map(({ id }) => id)).not.toContain('phone')
  })
})
