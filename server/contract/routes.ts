import { allOperations, type OperationId } from './index.ts'

/** Method and path of each operation, such as `GET /v1/projects/{slug}`. The dashboard gets them at build time, without the schemas. */
export const operationRoutes = Object.fromEntries(Object.entries(allOperations).map(([id, { method, path }]) => [id, `${method} ${path}`])) as Record<
  OperationId,
  string
>
