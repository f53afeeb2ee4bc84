import type Docker from 'dockerode'
import { instanceIdOf, createDockerView } from '../support/docker.ts'
import type { Client } from '../support/platform.ts'

/** Objects of a platform in the engine. */
export async function dockerViewOf(platform: Pick<Client, 'api'>) {
  const { body } = await platform.api<{ user: { id: string } }>('GET', '/instance/session')
  const instance_id = instanceIdOf(body.user.id)
  return { ...createDockerView(instance_id), instance_id }
}

/** The container of its database server. */
export async function findDatabaseContainer(docker: Docker, instance_id: string): Promise<Docker.ContainerInfo | undefined> {
  const label = [`homeport.instance=${instance_id}`, 'homeport.role=database']
  return (await docker.listContainers({ all: true, filters: { label } }))[0]
}
