#pragma once

#include "store/store_database.hpp"

namespace headroom::io {

/// The version that this program writes.
int store_version();

/// The version of a file that is open; 0 where it is empty. Inside the caller's transaction.
/// Errors: InputError{unreadable} where it is no store, belongs to a newer version, or has not the tables of its version.
int check_schema(StoreDatabase const& database);

/// Takes the steps from `version` to the present one, inside the caller's transaction.
void migrate(StoreDatabase const& database, int version);

} // namespace headroom::io
