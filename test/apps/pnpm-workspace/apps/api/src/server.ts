import Fastify from 'fastify'
import { greet } from '@homeport-test/greeting'

const app = Fastify()
app.get('/', () => ({ message: greet('pnpm') }))
await app.listen({ port: Number(process.env.PORT ?? 3000), host: '0.0.0.0' })
