import type { Plugin } from 'vite'
import { operationRoutes } from '../server/contract/routes.ts'

/** Puts the routes of the contract into the bundle as data; their module would bring the schema library and every schema. */
export function inlineOperationRoutes(): Plugin {
  return {
    name: 'homeport-operation-routes',
    load: (id) => (id.endsWith('/server/contract/routes.ts') ? `export const operationRoutes = ${JSON.stringify(operationRoutes)}` : undefined),
  }
}
