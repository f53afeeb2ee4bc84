import type { DevSession, devOperations } from '../contract/dev.ts'
import { Problem } from '../contract/errors.ts'
import type { OpenDevSession } from '../deployments/service.ts'
import type { OperationContext, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createDevHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof devOperations> {
  const { devSessions } = deps.deployments

  const present = (session: OpenDevSession): DevSession => {
    const { edge_url, edge_https_url } = deps.instance()
    return {
      ...session,
      url: `http://${session.host}:${new URL(edge_url).port}`,
      https_url: edge_https_url === null ? null : `https://${session.host}:${new URL(edge_https_url).port}`,
    }
  }

  const requireOwner = ({ caller }: Pick<OperationContext, 'caller'>): void => {
    if (!caller.is_instance_owner)
      throw new Problem(
        'forbidden',
        'Only the owner of this instance can put a development server behind an address, because it runs on the owner’s machine.',
      )
  }

  /** The edge sends requests to a port of its own machine, so the program that listens there must be on this machine. */
  const requireLocal = (context: OperationContext): void => {
    requireOwner(context)
    if (!context.is_local)
      throw new Problem(
        'dev_server_not_local',
        'This instance is on another machine and cannot reach a development server on yours. Use homeport dev with an instance on your machine.',
      )
  }

  /** Requests to the edge or the API would go round in circles. */
  const requireOtherPort = (port: number): void => {
    const { api_url, edge_url, edge_https_url } = deps.instance()
    if ([api_url, edge_url, edge_https_url].some((url) => url !== null && Number(new URL(url).port) === port))
      throw new Problem('invalid_input', `Port ${port} is used by Homeport. Start the development server on another port.`, {
        issues: [{ path: 'port', message: 'This port is used by Homeport.' }],
      })
  }

  return {
    listDevSessions: async ({ project }) => ({ sessions: devSessions.list(project.id).map(present) }),

    async createDevSession(context, { body }) {
      requireLocal(context)
      requireOtherPort(body.port)
      const { session: opened, ...variables } = await devSessions.open(context.project, body)
      return { session: present(opened), ...variables }
    },

    async updateDevSession(context, { params: { session }, body: { address, port } }) {
      requireLocal(context)
      requireOtherPort(port)
      return { session: present(devSessions.markRunning(context.project.id, session, { host: address, port })) }
    },

    async followDevSession(context, { params: { session } }) {
      requireOwner(context)
      return devSessions.follow(context.project.id, session, context.signal)
    },

    async endDevSession({ project, caller }, { params: { session } }) {
      requireOwner({ caller })
      devSessions.end(project.id, session)
      return { ok: true }
    },
  }
}
