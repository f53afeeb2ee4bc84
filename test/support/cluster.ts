import { expect } from 'vitest'
import type { ClusterNode } from '../../server/contract/nodes.ts'
import type { Client, TestPlatform } from './platform.ts'
import type { TestSwarm } from './swarm.ts'
import { until } from './until.ts'

/** The options of a test platform on a node of a swarm. */
export const platformOnNode = (swarm: TestSwarm, node: number) => ({
  runtime: 'swarm' as const,
  docker_candidates: [`unix://${swarm.socket(node)}`],
  node_socket: swarm.node_socket,
  registry: swarm.registry,
})

/** So that the other nodes have an edge. */
export const withNodeEdges = { host: '0.0.0.0', edge_workers: 1 }

/** An app that answers with the host name of its container. */
export const hostNameApp = {
  'package.json': JSON.stringify({ private: true, scripts: { start: 'node server.js' } }),
  'server.js': `require('node:http').createServer((request, response) => response.end(require('node:os').hostname())).listen(process.env.PORT, process.env.HOST)`,
}

export async function deployWithReplicas(platform: TestPlatform, slug: string, repo_url: string, replicas: number): Promise<void> {
  await platform.createProject({ slug, repo_url })
  await platform.api('PATCH', `/instance/projects/${slug}/settings`, { replicas })
  expect(await platform.waitForEnd(slug, (await platform.deploy(slug)).id)).toMatchObject({ status: 'ready' })
}

/** Waits until the edge of a node, from 1, follows the platform. */
export const waitForNodeEdge = (client: Client, node: number): Promise<true> =>
  until(
    async () => {
      const { nodes } = (await client.api<{ nodes: ClusterNode[] }>('GET', '/instance/nodes')).body
      return nodes[node - 1]?.edge === 'serving' || undefined
    },
    { what: `an edge on node ${node} that follows` },
  )
