import { createFileRoute } from '@tanstack/react-router'
import { createServerFn } from '@tanstack/react-start'

const greeting = createServerFn().handler(() => `Hello from TanStack Start, process ${process.pid > 0 ? 'known' : 'unknown'}`)

export const Route = createFileRoute('/')({
  loader: () => greeting(),
  component: () => <h1>{Route.useLoaderData()}</h1>,
})
