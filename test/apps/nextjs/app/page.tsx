export const dynamic = 'force-dynamic'

export default function Page() {
  return <h1>Rendered by Next.js in process {process.pid > 0 ? 'on the server' : ''}</h1>
}
