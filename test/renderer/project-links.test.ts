import { expect, test } from 'vitest'
import { splitProjectQuery } from '../../renderer/features/command-palette/project-links.ts'

const split = (query: string) => {
  const found = splitProjectQuery(query.split(' '))
  return found && [found.project.join(' '), found.links.map(({ text }) => text)]
}

test('a query with the name of a project and of a page finds the page, in any order and by other words', () => {
  expect(split('shop logs')).toEqual(['shop', ['Logs']])
  expect(split('log harbour shop')).toEqual(['harbour shop', ['Logs']])
  expect(split('shop env')).toEqual(['shop', ['Environment']])
  expect(split('shop config')).toEqual(['shop', ['Environment', 'Settings']])
  expect(split('shop rollback')).toEqual(['shop', ['Roll back…']])
  expect(split('shop redeploy')).toEqual(['shop', ['Redeploy', 'Upload archive…']])
  expect(split('shop del')).toEqual(['shop', ['Delete…']])
})

test('a query that names only a project, or only a page, finds no page of a project', () => {
  expect(split('shop')).toBeNull()
  expect(split('logs')).toBeNull()
  expect(split('l shop')).toBeNull()
})
