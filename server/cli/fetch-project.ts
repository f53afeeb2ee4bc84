import type { Project } from '../contract/projects.ts'
import { ApiError } from '../client/api-error.ts'
import type { ApiClient } from './client.ts'

export const fetchProject = (client: ApiClient, slug: string): Promise<Project | undefined> =>
  client.call('getProject', { params: { slug } }).then(
    ({ project }) => project,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'project_not_found') return undefined
      throw error
    },
  )

export function isLocalInstance(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}
