import { expect, test } from 'vitest'
import { arrangeProjects } from '../../renderer/features/projects/arrange-projects.ts'
import { parseFavorites } from '../../renderer/stores/project-list.ts'
import type { Project } from '../../server/contract/projects.ts'

const project = (slug: string, change: Partial<Project> = {}) =>
  ({ id: slug, slug, name: slug, status: 'live', is_cold: false, updated_at: '2026-01-01T00:00:00Z', last_request_at: null, ...change }) as Project

const projects = [
  project('quay-10', { last_request_at: '2026-01-04T00:00:00Z' }),
  project('quay-2', { status: 'crashed', updated_at: '2026-01-03T00:00:00Z' }),
  project('Buoy', { status: 'building' }),
  project('anchor', { is_cold: true }),
]
const requests = new Map([
  ['quay-2', [3, 4]],
  ['anchor', [9]],
])
const arrange = (change: object) =>
  arrangeProjects(projects, { order: 'created', state: null, favorites: [], requests, ...change }).map(({ slug }) => slug)

test('projects in each order, with the favorites first', () => {
  expect(arrange({})).toEqual(['quay-10', 'quay-2', 'Buoy', 'anchor'])
  expect(arrange({ order: 'name' })).toEqual(['anchor', 'Buoy', 'quay-2', 'quay-10'])
  expect(arrange({ order: 'requests' })).toEqual(['anchor', 'quay-2', 'quay-10', 'Buoy'])
  expect(arrange({ order: 'active' }).slice(0, 2)).toEqual(['quay-10', 'quay-2'])
  expect(arrange({ order: 'name', favorites: ['quay-10', 'deleted', 'Buoy'] })).toEqual(['Buoy', 'quay-10', 'anchor', 'quay-2'])
})

test('projects of one status: a crashed one failed, and a sleeping one is not listed as live', () => {
  expect(arrange({ state: 'live' })).toEqual(['quay-10'])
  expect(arrange({ state: 'failed' })).toEqual(['quay-2'])
  expect(arrange({ state: 'building' })).toEqual(['Buoy'])
  expect(arrange({ state: 'asleep' })).toEqual(['anchor'])
})

test('stored favorites of any content are read without an error', () => {
  expect(parseFavorites(null)).toEqual({})
  expect(parseFavorites('{')).toEqual({})
  expect(parseFavorites('[]')).toEqual({})
  expect(parseFavorites('{"local":["a",1],"other":7}')).toEqual({ local: ['a'], other: [] })
})
