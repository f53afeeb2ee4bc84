import type Docker from 'dockerode'
import { instanceIdOf, viewEngine } from '../support/docker.ts'
import type { Client } from '../support/platform.ts'

/** What the engine holds of a platform. */
export async function viewOf(home: Pick<Client, 'api'>) {
  const { body } = await home.api<{ user: { id: string } }>('GET', '/instance/session')
  const instance_id = instanceIdOf(body.user.id)
  return { ...viewEngine(instance_id), instance_id }
}

/** The container of its database server. */
export async function serverIn(docker: Docker, instance_id: string): Promise<Docker.ContainerInfo | undefined> {
  const label = [`homeport.instance=${instance_id}`, 'homeport.role=database']
  return (await docker.listContainers({ all: true, filters: { label } }))[0]
}
