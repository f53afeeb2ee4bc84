import { HttpStatusCode } from '@solidjs/start'

export default function NotFound() {
  return (
    <main>
      <HttpStatusCode code={404} />
      <h1>No such page</h1>
    </main>
  )
}
