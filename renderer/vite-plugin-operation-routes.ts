import type { Plugin } from 'vite'
import { operationRoutes } from '../server/contract/routes.ts'

/** Adds the routes of the contract to the bundle as data; importing their module would add the schema library and every schema. */
export function inlineOperationRoutes(): Plugin {
  return {
    name: 'homeport-operation-routes',
    load: (id) => (id.endsWith('/server/contract/routes.ts') ? `export const operationRoutes = ${JSON.stringify(operationRoutes)}` : undefined),
  }
}
