import type { MetaFunction } from '@remix-run/node'

export const meta: MetaFunction = () => [{ title: 'Remix on Homeport' }]

export default function Index() {
  return <h1>Welcome to Remix</h1>
}
