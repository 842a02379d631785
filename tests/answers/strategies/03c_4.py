class Engine:
    def thread_init(self, device):
        self.local.queue = self.ready_queues[device]
        self.thread_main(None)

# right: looks once without the lock, to be quick, and again with it
class Engine:
    def start_threads(self):
        if self.threads:
            return
        with self.start_lock:
            if not self.threads:
                threads = [Thread(target=self.thread_init, args=(i,), daemon=True)
                           for i in range(len(self.ready_queues))]
                for each in threads:
                    each.start()
                self.threads = threads

    def thread_init(self, device):
        setattr(self.local, "queue", self.ready_queues[device])
        self.thread_main(None)

# right: a lambda that keeps its device
class Engine:
    def start_threads(self):
        self.start_lock.acquire()
        try:
            for i in range(len(self.threads), len(self.ready_queues)):
                thread = Thread(target=lambda device=i: self.thread_init(device))
                thread.daemon = True
                self.threads.append(thread)
                thread.start()
        finally:
            self.start_lock.release()

    def thread_init(self, device):
        self.local.queue = self.ready_queues[device]
        return self.thread_main(None)

# wrong 03c_4_two_callers: a list that is filled at the end, without the lock
class Engine:
    def start_threads(self):
        if not self.threads:
            threads = [Thread(target=self.thread_init, args=(i,), daemon=True)
                       for i in range(len(self.ready_queues))]
            for each in threads:
                each.start()
            self.threads = threads

# wrong 03c_4_one_device: a lambda that is started at once
class Engine:
    def start_threads(self):
        with self.start_lock:
            if self.threads:
                return
            for device in range(len(self.ready_queues)):
                thread = Thread(target=lambda: self.thread_init(device), daemon=True)
                self.threads.append(thread)
                thread.start()

# wrong 03c_4_one_device: a function in the loop that is started at once
class Engine:
    def start_threads(self):
        with self.start_lock:
            if not self.threads:
                for device, _ in enumerate(self.ready_queues):
                    def work():
                        self.thread_init(device)

                    self.threads.append(Thread(target=work, daemon=True))
                    self.threads[-1].start()
