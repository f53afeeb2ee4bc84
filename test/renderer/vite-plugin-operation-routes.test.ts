import { expect, test } from 'vitest'
import { inlineOperationRoutes } from '../../renderer/vite-plugin-operation-routes.ts'
import { operationRoutes } from '../../server/contract/routes.ts'

test('the bundle has the routes of the contract as data, and every other module as it is', () => {
  const load = inlineOperationRoutes().load as (id: string) => string | undefined
  expect(load('/checkout/server/contract/routes.ts')).toBe(`export const operationRoutes = ${JSON.stringify(operationRoutes)}`)
  expect(load('/checkout/renderer/routes.ts')).toBeUndefined()
})
