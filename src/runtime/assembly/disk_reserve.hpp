/// Room that is kept on the disk of the state directory for what gives room back.
///
/// On a full disk nothing can be written down, so nothing could be stopped or destroyed either, and
/// the disk would stay full. The reserve is a file, `<state_dir>/reserve`, of nothing: who is about
/// to free something gives it to the disk first, and whoever finds room again takes it back.
#pragma once

namespace cove::runtime {

/// Any number of processes of one state directory: what two do at once is done once. Blocks, and
/// never fails: without a reserve everything works as long as there is room.
class DiskReserve {
 public:
  /// The directory is borrowed.
  explicit DiskReserve(int state_directory) noexcept : directory_(state_directory) {}

  /// Gives the reserve to the disk where that is nearly full. True: it did.
  bool lend() const noexcept;

  /// Takes it (again) where there is plenty of room. True: there is a reserve now.
  bool restore() const noexcept;

 private:
  int directory_;
};

}  // namespace cove::runtime
