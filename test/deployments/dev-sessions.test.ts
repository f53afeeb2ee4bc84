import { expect, test } from 'vitest'
import { allOperations } from '../../server/contract/index.ts'
import type { DeploymentContext } from '../../server/deployments/context.ts'
import { createDevSessions } from '../../server/deployments/dev-sessions.ts'
import type { Supervisor } from '../../server/deployments/supervisor.ts'
import { projectRow } from '../support/database-rows.ts'
import { openMemoryDatabase } from '../support/memory-database.ts'
import { createTestClock } from '../support/test-clock.ts'

test('a session that ends while its services start gets no address, and the operation names its error', async () => {
  const clock = createTestClock()
  const db = await openMemoryDatabase(clock)
  const project = { ...projectRow({ id: 'prj_garden', account_id: 'acc', name: 'Garden', slug: 'garden' }), seq: 1 }
  const services = Promise.withResolvers<Record<string, string>>()
  const isReading = Promise.withResolvers<void>()
  const routes = new Set<string>()
  const context = {
    clock,
    store: { db },
    edge: {
      getRoute: () => undefined,
      setDevelopmentRoute: (host: string) => void routes.add(host),
      removeDevelopmentRoute: (host: string) => void routes.delete(host),
    },
    events: { publish: () => {} },
    routes: { getRouteMetadata: () => ({}) },
    databases: {
      variablesForMachine() {
        isReading.resolve()
        return services.promise
      },
    },
    mailCatcher: { variablesFor: async () => ({ variables: {}, secrets: [], note: null }) },
    traces: { variablesFor: async () => ({ variables: {}, secrets: [] }), setMask: () => {} },
    localUrlOf: (host: string) => `http://${host}`,
  } satisfies Partial<{ [Name in keyof DeploymentContext]: unknown }> as never as DeploymentContext
  const sessions = createDevSessions(context, { findEnvironment: () => undefined } as Partial<Supervisor> as Supervisor)
  const request = {
    folder: '/srv/garden',
    branch: null,
    is_linked_worktree: false,
    command: 'vite',
    framework: 'vite',
    port: 5173,
    host_header: 'localhost' as const,
  }

  const opened = sessions.open(project, request).catch((error: unknown) => error)
  await isReading.promise
  const [session] = sessions.list(project.id)
  sessions.end(project.id, session!.id)
  services.resolve({})
  const error = await opened
  expect(error).toMatchObject({ code: 'dev_session_not_found' })
  expect(allOperations.createDevSession.errors).toContain((error as { code: string }).code)
  expect([sessions.list(project.id), [...routes]]).toEqual([[], []])

  await sessions.open(project, request)
  expect([...routes]).toEqual(['garden.localhost'])
})
